package jdkmatrix.banking;

import jakarta.json.bind.annotation.JsonbProperty;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/**
 * The body of {@code POST /transfers} as received, with null for what was missing. Names of two words are given here
 * although JsonNames would make them: the JSON-B of Open Liberty 23.0.0.9 does not ask it for components of a record.
 *
 * @param amountMinor not a Long: JSON-B silently makes 1 of both 1.5 and 18446744073709551617
 */
public record TransferRequest(
        String from,
        String to,
        @JsonbProperty("amount_minor") BigDecimal amountMinor,
        String currency,
        @JsonbProperty("idempotency_key") String idempotencyKey) {
    static final BigDecimal MAX_AMOUNT_MINOR = BigDecimal.valueOf(1_000_000_000);
    private static final Pattern ACCOUNT_ID = Pattern.compile("[0-9]{6}");
    private static final Pattern KEY = Pattern.compile("[!-~]{1,64}");

    static boolean isAccountId(String text) {
        return ACCOUNT_ID.matcher(text).matches();
    }

    /** @throws Problem 400 with one line per fault */
    Transfer checked() {
        List<String> faults = faults();
        if (!faults.isEmpty()) {
            throw Problem.badRequest(String.join("\n", faults));
        }
        return new Transfer(from, to, amountMinor.longValueExact());
    }

    /** Returns one line per fault; empty if the transfer is valid. */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        account("from", from, faults);
        account("to", to, faults);
        if (to != null && to.equals(from)) {
            faults.add("to: expected another account than from, found the same");
        }
        if (amountMinor == null || !isAmount(amountMinor)) {
            faults.add("amount_minor: expected a whole number from 1 to " + MAX_AMOUNT_MINOR + ", found "
                    + (amountMinor == null ? "nothing" : amountMinor));
        }
        if (!Ledger.CURRENCY.equals(currency)) {
            faults.add("currency: expected " + Ledger.CURRENCY + ", found " + Text.quoted(currency));
        }
        if (idempotencyKey == null || !KEY.matcher(idempotencyKey).matches()) {
            faults.add("idempotency_key: expected 1 to 64 visible ASCII characters, found " + Text.quoted(idempotencyKey));
        }
        return faults;
    }

    private static boolean isAmount(BigDecimal minor) {
        // The range first: a number within it has few digits before its point, so the rest is checked quickly.
        return minor.compareTo(BigDecimal.ONE) >= 0
                && minor.compareTo(MAX_AMOUNT_MINOR) <= 0
                && minor.stripTrailingZeros().scale() <= 0;
    }

    private static void account(String name, String id, List<String> faults) {
        if (id == null || !isAccountId(id)) {
            faults.add(name + ": expected six digits, found " + Text.quoted(id));
        }
    }
}
