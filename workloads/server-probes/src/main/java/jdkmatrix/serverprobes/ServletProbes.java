package jdkmatrix.serverprobes;

import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;

/** The probes as Servlets, for any server with Servlets: a listener of the application that wants them. */
public class ServletProbes implements ServletContextListener {
    @Override
    public void contextInitialized(ServletContextEvent starting) {
        addTo(starting.getServletContext());
    }

    /** Adds the probes to an application that is built in code, without a listener. */
    public static void addTo(ServletContext application) {
        Probe.BY_PATH.forEach((path, probe) -> {
            if (!application.addServlet("probe " + path, new ProbeServlet(probe)).addMapping(path).isEmpty()) {
                throw new IllegalStateException("the application has something else at " + path);
            }
        });
    }
}
