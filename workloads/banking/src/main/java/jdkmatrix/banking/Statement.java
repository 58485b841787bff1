package jdkmatrix.banking;

import java.util.List;

/** A page of an account's entries, newest first. The totals are those of the page. */
public record Statement(
        String account,
        String currency,
        int page,
        int size,
        long creditsMinor,
        long debitsMinor,
        List<Entry> entries) {
    static Statement of(String account, int page, int size, List<Entry> entries) {
        long creditsMinor = 0;
        long debitsMinor = 0;
        for (Entry entry : entries) {
            creditsMinor += Math.max(0, entry.amountMinor());
            debitsMinor -= Math.min(0, entry.amountMinor());
        }
        return new Statement(account, Ledger.CURRENCY, page, size, creditsMinor, debitsMinor, entries);
    }
}
