package jdkmatrix.springmvc;

import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/**
 * A transfer in the database.
 *
 * @param transferId null: it was not covered
 */
@Table("transfer")
record TransferRow(
        @Id String idempotencyKey, String payee, long amountMinor, Long transferId, long payerMinor, long payeeMinor) {}
