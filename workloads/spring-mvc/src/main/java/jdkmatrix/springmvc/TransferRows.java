package jdkmatrix.springmvc;

import java.util.List;
import jdkmatrix.banking.Entry;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.Repository;
import org.springframework.data.repository.query.Param;

interface TransferRows extends Repository<TransferRow, String> {
    /** @return the transfer's number, 0 if it is not covered; null: the payer has used the key before */
    @Query("""
            insert into transfer (payer, idempotency_key, payee, amount_minor, transfer_id, payer_minor, payee_minor)
            values (:payer, :key, :payee, :minor, case when :covered then nextval('transfer_id') end, :payerMinor, :payeeMinor)
            on conflict do nothing returning coalesce(transfer_id, 0)""")
    Long keep(
            @Param("payer") String payer,
            @Param("key") String key,
            @Param("payee") String payee,
            @Param("minor") long minor,
            @Param("covered") boolean covered,
            @Param("payerMinor") long payerMinor,
            @Param("payeeMinor") long payeeMinor);

    @Query("""
            select idempotency_key, payee, amount_minor, transfer_id, payer_minor, payee_minor
            from transfer where payer = :payer and idempotency_key = :key""")
    TransferRow known(@Param("payer") String payer, @Param("key") String key);

    /** Returns the last {@code kept} entries, newest first, without the first {@code skipped}, at most {@code most}. */
    @Query("""
            select transfer_id, counterparty, amount_minor, balance_minor from (
              (select transfer_id, payee as counterparty, -amount_minor as amount_minor, payer_minor as balance_minor
               from transfer where payer = :id and transfer_id is not null order by transfer_id desc limit :kept)
              union all
              (select transfer_id, payer, amount_minor, payee_minor
               from transfer where payee = :id and transfer_id is not null order by transfer_id desc limit :kept)
              order by transfer_id desc limit :kept
            ) as kept order by transfer_id desc offset :skipped limit :most""")
    List<Entry> entries(
            @Param("id") String id, @Param("kept") int kept, @Param("skipped") int skipped, @Param("most") int most);
}
