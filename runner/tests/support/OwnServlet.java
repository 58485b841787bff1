import jakarta.servlet.annotation.WebServlet;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/** Answers with the item that was asked for, unless it can see a class of the program that it is deployed in. */
@WebServlet("/items/*")
public class OwnServlet extends HttpServlet {
    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try {
            Class.forName("jdkmatrix.serverprobes.ServletProbes");
            response.sendError(500, "it is in one application with the probes");
        } catch (ClassNotFoundException alone) {
            response.getWriter().println("item " + request.getPathInfo().substring(1));
        }
    }
}
