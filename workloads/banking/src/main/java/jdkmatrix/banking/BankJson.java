package jdkmatrix.banking;

import jakarta.json.bind.Jsonb;
import jakarta.json.bind.JsonbBuilder;
import jakarta.json.bind.JsonbConfig;
import jakarta.json.bind.JsonbException;
import jakarta.json.bind.config.PropertyNamingStrategy;
import java.io.InputStream;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/** The bank's JSON, in which amountMinor is amount_minor. */
public final class BankJson {
    static final Jsonb JSONB = JsonbBuilder.create(
            new JsonbConfig().withPropertyNamingStrategy(PropertyNamingStrategy.LOWER_CASE_WITH_UNDERSCORES));

    private BankJson() {}

    public static String write(Object body) {
        return JSONB.toJson(body);
    }

    /** @throws Problem 400 if it is not the expected JSON */
    public static <T> T read(InputStream body, Class<T> type) {
        try {
            return JSONB.fromJson(body, type);
        } catch (JsonbException unreadable) {
            throw unreadable(unreadable);
        }
    }

    /** Reports a body that is not the expected JSON, which is the client's fault. */
    public static Problem unreadable(Exception problem) {
        return Problem.badRequest("body: not the JSON that was expected: " + Text.quoted(problem.getMessage()));
    }
}
