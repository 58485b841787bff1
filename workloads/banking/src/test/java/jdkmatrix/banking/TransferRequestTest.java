package jdkmatrix.banking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.util.List;
import jdkmatrix.serverprobes.Problem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class TransferRequestTest {
    private static final BigDecimal ONE = BigDecimal.ONE;

    private static List<String> faultsOfAmount(BigDecimal amountMinor) {
        return new TransferRequest("000000", "000001", amountMinor, "EUR", "k").faults();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "250", "1000000000", "2.50e2", "7.00", "1e9"})
    void everyWayToWriteAnAmountIsAccepted(String amount) {
        TransferRequest request = new TransferRequest("000000", "000001", new BigDecimal(amount), "EUR", "k-1");
        assertEquals(List.of(), request.faults());
        assertEquals(new Transfer("000000", "000001", new BigDecimal(amount).longValueExact()), request.checked());
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"0", "-1", "1.5", "0.1", "1000000001", "18446744073709551617", "1e999999999", "1e-999999999"})
    void noOtherAmountIs(BigDecimal amount) {
        assertEquals(
                List.of("amount_minor: expected a whole number from 1 to 1000000000, found "
                        + (amount == null ? "nothing" : amount)),
                faultsOfAmount(amount));
    }

    @Test
    void everyFaultIsALineOfItsOwn() {
        TransferRequest nothing = new TransferRequest(null, null, null, null, null);
        Problem problem = assertThrows(Problem.class, nothing::checked);
        assertEquals(400, problem.status());
        assertEquals(
                """
                from: expected six digits, found nothing
                to: expected six digits, found nothing
                amount_minor: expected a whole number from 1 to 1000000000, found nothing
                currency: expected EUR, found nothing
                idempotency_key: expected 1 to 64 visible ASCII characters, found nothing""",
                problem.getMessage());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00000", "0000000", "00000x", "-00001", "٠٠٠٠٠٠", "0\n0000"})
    void anAccountHasSixDigits(String id) {
        List<String> faults = new TransferRequest(id, "000001", ONE, "EUR", "k").faults();
        assertEquals(1, faults.size());
        assertEquals(1, faults.getFirst().lines().count());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "a b", "schlüssel", "a\nb", "12345678901234567890123456789012345678901234567890123456789012345"})
    void aKeyIsShortAndVisible(String key) {
        List<String> faults = new TransferRequest("000000", "000001", ONE, "EUR", key).faults();
        assertEquals(1, faults.size());
        assertEquals(1, faults.getFirst().lines().count());
    }

    @Test
    void moneyGoesToAnotherAccountInOurCurrency() {
        assertEquals(
                List.of(
                        "to: expected another account than from, found the same",
                        "currency: expected EUR, found \"USD\""),
                new TransferRequest("000001", "000001", ONE, "USD", "k").faults());
    }
}
