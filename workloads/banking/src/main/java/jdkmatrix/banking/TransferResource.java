package jdkmatrix.banking;

import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.HeaderParam;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MediaType;
import jakarta.ws.rs.core.Response;
import jdkmatrix.serverprobes.Problem;

/**
 * {@code POST /transfers}: moves money, once for each idempotency key; see {@link Ledger}. Answers 201, or in one line
 * 404 unknown account, 409 a key of another transfer, 422 insufficient funds; 400 with one line for each fault.
 */
@Path("transfers")
public class TransferResource {
    public record Receipt(long transferId, long fromBalanceMinor, long toBalanceMinor) {}

    @POST
    @Consumes(MediaType.APPLICATION_JSON)
    @Produces(MediaType.APPLICATION_JSON)
    public Response transfer(
            TransferRequest body, @QueryParam("burn_us") String burnUs, @HeaderParam(Business.ORDER) String order) {
        if (body == null) {
            throw Problem.badRequest("body: expected a transfer as JSON, found nothing");
        }
        Transfer transfer = body.checked();
        return Business.serve(burnUs, order, (bank, reply) -> answer(
                transfer, bank.ledger().transfer(body.idempotencyKey(), transfer)));
    }

    private static Response.ResponseBuilder answer(Transfer transfer, Outcome outcome) {
        return switch (outcome) {
            case Outcome.Booked(long transferId, long fromBalanceMinor, long toBalanceMinor) ->
                Response.status(201).entity(new Receipt(transferId, fromBalanceMinor, toBalanceMinor));
            case Outcome.InsufficientFunds(long balanceMinor) ->
                throw new Problem(422, "account %s has %d, less than %d"
                        .formatted(transfer.from(), balanceMinor, transfer.amountMinor()));
            case Outcome.KeyReused() ->
                throw new Problem(409, "idempotency_key: account " + transfer.from() + " used it for another transfer");
            case Outcome.UnknownAccount(String id) -> throw new Problem(404, "there is no account " + id);
        };
    }
}
