package jdkmatrix.springmvc;

import org.springframework.data.annotation.Id;
import org.springframework.data.relational.core.mapping.Table;

/** An account in the database. */
@Table("account")
record AccountRow(@Id String id, long balanceMinor) {}
