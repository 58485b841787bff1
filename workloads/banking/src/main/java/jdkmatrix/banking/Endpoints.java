package jdkmatrix.banking;

import java.util.List;
import jdkmatrix.serverprobes.Parameters;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/**
 * What the bank answers, whatever brings the request.
 *
 * <ul>
 *   <li>{@code GET /accounts/{id}}: the balance.
 *   <li>{@code GET /accounts/{id}/statement?page=P&size=S}: the entries that are kept, newest first, S on a page (10),
 *       pages from 0 on.
 *   <li>{@code POST /transfers}: moves money, once for each idempotency key; see {@link Ledger}. Answers 201, or in one
 *       line 404 unknown account, 409 a key of another transfer, 422 insufficient funds; 400 with one line for each fault.
 *   <li>{@code GET /forward}: calls the remote system and answers with its body, for experiments that only wait.
 *   <li>{@code GET /accounts}: what this bank is; calls nothing, and answers only when the bank is in order.
 *   <li>{@code GET /audit}: whether money was made or lost; right only while nothing is in flight. Calls nothing.
 * </ul>
 */
public final class Endpoints {
    private static final String DEFAULT_SIZE = "10";

    public record Terms(
            int accounts, long openingBalanceMinor, String currency, int entriesKept, int idempotencyKeysKept) {}

    public record Balance(String account, long balanceMinor, String currency) {}

    public record Receipt(long transferId, long fromBalanceMinor, long toBalanceMinor) {}

    private Endpoints() {}

    /** Before the first request, by a server that keeps the books of a database in a way of its own. */
    public static void openBooksBy(Books.Opener opener) {
        Bank.openedBy(opener);
    }

    public static Terms terms() {
        Books books = Bank.configured().books();
        return new Terms(books.size(), Ledger.OPENING_MINOR, Ledger.CURRENCY, Account.ENTRIES_KEPT, books.keysKept());
    }

    public static Audit audit() {
        return Bank.configured().books().audit();
    }

    public static Answer balance(String id, String burnUs, String order) {
        return Business.serve(burnUs, order, (bank, reply) ->
                Answer.json(200, new Balance(id, existing(id, bank.books().balanceMinor(id)), Ledger.CURRENCY), reply));
    }

    public static Answer statement(String id, String pageText, String sizeText, String burnUs, String order) {
        int page = number("page", pageText, "0", 0);
        int size = number("size", sizeText, DEFAULT_SIZE, 1);
        return Business.serve(burnUs, order, (bank, reply) ->
                {
            List<Entry> entries = existing(id, bank.books().entries(id, page * size, size));
            return Answer.json(200, Statement.of(id, page, size, entries), reply);
        });
    }

    public static Answer forward(String burnUs, String order) {
        return Business.serve(burnUs, order, (bank, reply) -> Answer.of(reply));
    }

    /** @param body null: there was none */
    public static Answer transfer(TransferRequest body, String burnUs, String order) {
        if (body == null) {
            throw Problem.badRequest("body: expected a transfer as JSON, found nothing");
        }
        Transfer transfer = body.checked();
        return Business.serve(burnUs, order, (bank, reply) -> Answer.json(
                201, receipt(transfer, bank.books().transfer(body.idempotencyKey(), transfer)), reply));
    }

    private static Receipt receipt(Transfer transfer, Outcome outcome) {
        return switch (outcome) {
            case Outcome.Booked(long transferId, long fromBalanceMinor, long toBalanceMinor) ->
                new Receipt(transferId, fromBalanceMinor, toBalanceMinor);
            case Outcome.InsufficientFunds(long balanceMinor) ->
                throw new Problem(422, "account %s has %d, less than %d"
                        .formatted(transfer.from(), balanceMinor, transfer.amountMinor()));
            case Outcome.KeyReused() ->
                throw new Problem(409, "idempotency_key: account " + transfer.from() + " used it for another transfer");
            case Outcome.UnknownAccount(String id) -> throw new Problem(404, "there is no account " + id);
        };
    }

    private static int number(String name, String text, String missing, int min) {
        return (int) Parameters.wholeNumber(name, text == null ? missing : text, min, Account.ENTRIES_KEPT);
    }

    private static <T> T existing(String id, T ofAccount) {
        if (ofAccount == null) {
            throw new Problem(404, "there is no account " + Text.quoted(id));
        }
        return ofAccount;
    }
}
