package jdkmatrix.banking;

import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import jakarta.json.bind.JsonbConfig;
import jakarta.json.bind.config.PropertyNamingStrategy;
import jakarta.ws.rs.ext.ContextResolver;
import jakarta.ws.rs.ext.Provider;

/** In JSON, amountMinor is amount_minor. */
@Provider
public class JsonNames implements ContextResolver<Jsonb> {
    private final Jsonb jsonb = JsonbBuilder.create(
            new JsonbConfig().withPropertyNamingStrategy(PropertyNamingStrategy.LOWER_CASE_WITH_UNDERSCORES));

    @Override
    public Jsonb getContext(Class<?> type) {
        return jsonb;
    }
}
