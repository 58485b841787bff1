package jdkmatrix.springmvc;

import java.util.List;
import org.springframework.data.jdbc.repository.query.Modifying;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.CrudRepository;
import org.springframework.data.repository.query.Param;

interface AccountRows extends CrudRepository<AccountRow, String> {
    @Query("select id, balance_minor from account where id in (:from, :to) order by id for update")
    List<AccountRow> locked(@Param("from") String from, @Param("to") String to);

    @Modifying
    @Query("""
            update account set balance_minor = balance_minor + case when id = :from then -:minor else :minor end
            where id in (:from, :to)""")
    void move(@Param("from") String from, @Param("to") String to, @Param("minor") long minor);
}
