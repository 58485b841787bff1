package jdkmatrix.banking;

import java.util.List;
import jdkmatrix.serverprobes.Parameters;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/**
 * The answers of the bank, whatever brings the request.
 *
 * <ul>
 *   <li>{@code GET /accounts/{id}}: the balance.
 *   <li>{@code GET /accounts/{id}/statement?page=P&size=S}: the kept entries, newest first, S per page (10),
 *       with pages counted from 0.
 *   <li>{@code POST /transfers}: moves money, once per idempotency key; see {@link Ledger}. Answers 201, or in one line
 *       404 unknown account, 409 a key of another transfer, 422 insufficient funds; 400 with one line per fault.
 *   <li>{@code GET /forward}: calls the remote system and answers with its body, for experiments that only wait.
 *   <li>{@code GET /accounts}: the terms of this bank; calls nothing, and answers only if the bank is in order.
 *   <li>{@code GET /audit}: whether money was made or lost; correct only while nothing is in flight. Calls nothing.
 * </ul>
 */
public final class Endpoints {
    private static final String DEFAULT_SIZE = "10";

    public record Terms(
            int accounts, long openingBalanceMinor, String currency, int entriesKept, int idempotencyKeysKept) {}

    public record Balance(String account, long balanceMinor, String currency) {}

    public record Receipt(long transferId, long fromBalanceMinor, long toBalanceMinor) {}

    private Endpoints() {}

    /** Called before the first request by a server that has its own way of keeping the books in a database. */
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

    /** @param body null if there was none */
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
