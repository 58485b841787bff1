package jdkmatrix.banking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LedgerTest {
    private final Ledger ledger = new Ledger(3);

    private static Transfer transfer(int from, int to, long amountMinor) {
        return new Transfer("%06d".formatted(from), "%06d".formatted(to), amountMinor);
    }

    private long balanceOf(int account) {
        return ledger.find("%06d".formatted(account)).balanceMinor();
    }

    @Test
    void moneyMoves() {
        assertEquals(
                new Outcome.Booked(1, Ledger.OPENING_MINOR - 250, Ledger.OPENING_MINOR + 250),
                ledger.transfer("a", transfer(0, 1, 250)));
        assertEquals(
                new Outcome.Booked(2, Ledger.OPENING_MINOR + 150, Ledger.OPENING_MINOR + 100),
                ledger.transfer("a", transfer(1, 2, 100)), "a key is the payer's own");
        long sum = 3 * Ledger.OPENING_MINOR;
        assertEquals(new Audit(3, 2, sum, sum, 0, List.of(), true, null, null), ledger.audit());
    }

    @Test
    void theSameKeyGivesTheFirstAnswerAndMovesNothing() {
        Outcome first = ledger.transfer("a", transfer(0, 1, 250));
        ledger.transfer("b", transfer(1, 0, 50));
        assertEquals(first, ledger.transfer("a", transfer(0, 1, 250)));
        assertEquals(Ledger.OPENING_MINOR - 200, balanceOf(0));
        assertEquals(new Outcome.KeyReused(), ledger.transfer("a", transfer(0, 1, 251)));
        assertEquals(new Outcome.KeyReused(), ledger.transfer("a", transfer(0, 2, 250)));
        assertEquals(2, ledger.audit().transfersDone());
    }

    @Test
    void insufficientFundsAreAnAnswerThatIsRemembered() {
        Transfer all = transfer(0, 1, Ledger.OPENING_MINOR);
        Transfer more = transfer(0, 1, Ledger.OPENING_MINOR + 1);
        Outcome refused = new Outcome.InsufficientFunds(Ledger.OPENING_MINOR);
        assertEquals(refused, ledger.transfer("a", more));
        ledger.transfer("b", transfer(1, 0, 1));
        assertEquals(refused, ledger.transfer("a", more), "though there is enough by now");
        assertInstanceOf(Outcome.Booked.class, ledger.transfer("c", all));
        assertEquals(1, balanceOf(0));
        assertTrue(ledger.audit().conserved());
    }

    @Test
    void accountsThatAreNotThereAreNamed() {
        assertEquals(new Outcome.UnknownAccount("000003"), ledger.transfer("a", transfer(3, 4, 1)));
        assertEquals(new Outcome.UnknownAccount("000004"), ledger.transfer("a", transfer(0, 4, 1)));
        for (String id : List.of("000003", "999999", "", "0", "abc", "00000١")) {
            assertNull(ledger.find(id), id);
        }
    }

    @Test
    void aStatementIsNewestFirstAndHasAnEnd() {
        int transfers = Account.ENTRIES_KEPT + 5;
        for (int n = 1; n <= transfers; n++) {
            ledger.transfer("k" + n, transfer(0, 1, n));
        }
        Account account = ledger.find("000000");
        List<Entry> all = account.entries(0, Integer.MAX_VALUE);
        assertEquals(Account.ENTRIES_KEPT, all.size());
        for (int n = 0; n < all.size(); n++) {
            assertEquals(transfers - n, all.get(n).transferId());
            assertEquals(-(transfers - n), all.get(n).amountMinor());
            assertEquals("000001", all.get(n).counterparty());
        }
        assertEquals(account.balanceMinor(), all.getFirst().balanceMinor());
        assertEquals(all.subList(10, 20), account.entries(10, 10));
        assertEquals(all.subList(30, 32), account.entries(30, 10));
        assertEquals(List.of(), account.entries(40, 10));
        assertEquals(List.of(), ledger.find("000002").entries(0, 10));
        Statement page = Statement.of("000001", 0, 2, List.of(
                new Entry(3, "000000", 7, 0), new Entry(2, "000000", -5, 0), new Entry(1, "000000", -1, 0)));
        assertEquals(7, page.creditsMinor());
        assertEquals(6, page.debitsMinor());
    }

    @Test
    void theOldestKeyIsForgottenFirst() {
        int kept = ledger.keysKept();
        for (int n = 0; n < kept; n++) {
            ledger.transfer("k" + n, transfer(0, 1, 1));
        }
        ledger.transfer("k0", transfer(0, 1, 1));
        assertEquals(kept, ledger.audit().transfersDone());
        ledger.transfer("one more", transfer(0, 1, 1));
        ledger.transfer("k1", transfer(0, 1, 1));
        assertEquals(kept + 1, ledger.audit().transfersDone());
        ledger.transfer("k0", transfer(0, 1, 1));
        assertEquals(kept + 2, ledger.audit().transfersDone(), "k0 was forgotten: it is new again");
    }

    @ParameterizedTest
    @CsvSource({"2, 1024", "64, 1024", "1000, 65", "10000, 16", "100000, 16"})
    void manyAccountsRememberFewerKeysEach(int accounts, int kept) {
        assertEquals(kept, new Ledger(accounts).keysKept());
    }

    @Test
    void aLostUpdateShows() throws ReflectiveOperationException {
        ledger.transfer("a", transfer(0, 1, 250));
        lose(250, "000001");
        Audit audit = ledger.audit();
        assertFalse(audit.conserved());
        assertEquals(1, audit.contradictions());
        assertEquals(List.of("000001"), audit.contradicting());
        assertEquals(audit.expectedSumMinor() - 250, audit.balanceSumMinor());
        lose(-250, "000000");
        assertEquals(audit.expectedSumMinor(), ledger.audit().balanceSumMinor(), "the sum alone would not tell");
        assertFalse(ledger.audit().conserved());
    }

    private void lose(long amountMinor, String id) throws ReflectiveOperationException {
        Field balance = Account.class.getDeclaredField("balanceMinor");
        balance.setAccessible(true);
        Account account = ledger.find(id);
        balance.setLong(account, account.balanceMinor() - amountMinor);
    }
}
