package jdkmatrix.banking;

import jakarta.servlet.annotation.WebListener;
import jdkmatrix.serverprobes.ServletProbes;

/** Puts the probes beside {@link BankServlet}. */
@WebListener
public class BankingProbes extends ServletProbes {}
