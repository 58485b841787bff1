package jdkmatrix.pinning;

import jakarta.servlet.annotation.WebListener;
import jdkmatrix.serverprobes.ServletProbes;

/** Puts the probes beside {@link PinningServlet}. */
@WebListener
public class PinningProbes extends ServletProbes {}
