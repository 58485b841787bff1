package jdkmatrix.springmvc;

import jdkmatrix.mpping.Ping;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** {@link Ping} through Spring MVC. */
@RestController
class PingController {
    @GetMapping(path = "/ping", produces = MediaType.TEXT_PLAIN_VALUE)
    String ping(@RequestParam(name = "burn_us", required = false) String burnUs) {
        return Ping.answer(burnUs);
    }
}
