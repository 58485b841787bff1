package jdkmatrix.springmvc;

import jakarta.servlet.http.HttpServletRequest;
import jdkmatrix.pinning.Endpoints;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** {@link Endpoints} that block, through Spring MVC. */
@RestController
class PinningController {
    private final Endpoints endpoints = new Endpoints();

    @RequestMapping(path = "/servlet/{name}", produces = MediaType.TEXT_PLAIN_VALUE)
    String answer(@PathVariable("name") String name, HttpServletRequest request) {
        return endpoints.answer(request.getMethod(), "/" + name, request::getParameter) + "\n";
    }
}
