package jdkmatrix.banking;

import jakarta.json.bind.Jsonb;
import jakarta.ws.rs.ext.ContextResolver;
import jakarta.ws.rs.ext.Provider;

/** Makes Jakarta REST use {@link BankJson}. */
@Provider
public class JsonNames implements ContextResolver<Jsonb> {
    @Override
    public Jsonb getContext(Class<?> type) {
        return BankJson.JSONB;
    }
}
