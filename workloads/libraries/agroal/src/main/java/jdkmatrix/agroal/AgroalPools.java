package jdkmatrix.agroal;

import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import java.sql.SQLException;
import javax.sql.DataSource;
import jdkmatrix.common.jdbc.ConnectionPools;

/** Agroal. */
public final class AgroalPools implements ConnectionPools {
    @Override
    public DataSource pool(String url, int connections) throws SQLException {
        return AgroalDataSource.from(new AgroalDataSourceConfigurationSupplier().connectionPoolConfiguration(
                pool -> pool.maxSize(connections).connectionFactoryConfiguration(factory -> factory.jdbcUrl(url))));
    }
}
