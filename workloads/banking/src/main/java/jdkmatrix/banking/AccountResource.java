package jdkmatrix.banking;

import jakarta.ws.rs.GET;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import java.util.List;
import jdkmatrix.serverprobes.Parameters;
import jdkmatrix.serverprobes.Problem;
import jdkmatrix.serverprobes.Text;

/**
 * {@code GET /accounts/{id}}: the balance. {@code GET /accounts/{id}/statement?page=P&size=S}: the entries that are
 * kept, newest first, S on a page (10), pages from 0 on. {@code GET /accounts}: what this bank is; calls nothing, and
 * answers only when the bank is in order.
 */
@Path("accounts")
@Produces(MediaType.APPLICATION_JSON)
public class AccountResource {
    private static final String DEFAULT_SIZE = "10";

    public record Terms(
            int accounts, long openingBalanceMinor, String currency, int entriesKept, int idempotencyKeysKept) {}

    public record Balance(String account, long balanceMinor, String currency) {}

    /** The totals are those of the page. */
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

    @GET
    public Terms terms() {
        Ledger ledger = Bank.configured().ledger();
        return new Terms(
                ledger.size(), Ledger.OPENING_MINOR, Ledger.CURRENCY, Account.ENTRIES_KEPT, ledger.keysKept());
    }

    @GET
    @Path("{id}")
    public Response balance(
            @PathParam("id") String id,
            @QueryParam("burn_us") String burnUs,
            @HeaderParam(Business.ORDER) String order) {
        return Business.serve(burnUs, order, (bank, reply) ->
                Response.ok(new Balance(id, existing(bank, id).balanceMinor(), Ledger.CURRENCY)));
    }

    @GET
    @Path("{id}/statement")
    public Response statement(
            @PathParam("id") String id,
            @QueryParam("page") String pageText,
            @QueryParam("size") String sizeText,
            @QueryParam("burn_us") String burnUs,
            @HeaderParam(Business.ORDER) String order) {
        int page = number("page", pageText, "0", 0);
        int size = number("size", sizeText, DEFAULT_SIZE, 1);
        return Business.serve(burnUs, order, (bank, reply) ->
                Response.ok(Statement.of(id, page, size, existing(bank, id).entries(page * size, size))));
    }

    private static int number(String name, String text, String missing, int min) {
        return (int) Parameters.wholeNumber(name, text == null ? missing : text, min, Account.ENTRIES_KEPT);
    }

    private static Account existing(Bank bank, String id) {
        Account account = bank.ledger().find(id);
        if (account == null) {
            throw new Problem(404, "there is no account " + Text.quoted(id));
        }
        return account;
    }
}
