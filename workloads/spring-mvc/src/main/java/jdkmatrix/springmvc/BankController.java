package jdkmatrix.springmvc;

import jdkmatrix.banking.Answer;
import jdkmatrix.banking.Audit;
import jdkmatrix.banking.BankJson;
import jdkmatrix.banking.Business;
import jdkmatrix.banking.Endpoints;
import jdkmatrix.banking.TransferRequest;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The bank's {@link Endpoints} through Spring MVC, with Spring's own JSON; paths under load are as with Servlets. */
@RestController
class BankController {
    @GetMapping("/accounts")
    Endpoints.Terms terms() {
        return Endpoints.terms();
    }

    @GetMapping("/audit")
    Audit audit() {
        return Endpoints.audit();
    }

    @GetMapping("/servlet/accounts/{id}")
    ResponseEntity<Object> balance(
            @PathVariable("id") String id,
            @RequestParam(name = "burn_us", required = false) String burnUs,
            @RequestHeader(name = Business.ORDER, required = false) String order) {
        return response(Endpoints.balance(id, burnUs, order));
    }

    @GetMapping("/servlet/accounts/{id}/statement")
    ResponseEntity<Object> statement(
            @PathVariable("id") String id,
            @RequestParam(name = "page", required = false) String page,
            @RequestParam(name = "size", required = false) String size,
            @RequestParam(name = "burn_us", required = false) String burnUs,
            @RequestHeader(name = Business.ORDER, required = false) String order) {
        return response(Endpoints.statement(id, page, size, burnUs, order));
    }

    @PostMapping("/servlet/transfers")
    ResponseEntity<Object> transfer(
            @RequestBody(required = false) TransferRequest body,
            @RequestParam(name = "burn_us", required = false) String burnUs,
            @RequestHeader(name = Business.ORDER, required = false) String order) {
        return response(Endpoints.transfer(body, burnUs, order));
    }

    @GetMapping("/servlet/forward")
    ResponseEntity<Object> forward(
            @RequestParam(name = "burn_us", required = false) String burnUs,
            @RequestHeader(name = Business.ORDER, required = false) String order) {
        return response(Endpoints.forward(burnUs, order));
    }

    /** Reports a body that is not the expected JSON in one line; Spring would say nothing. */
    @ExceptionHandler
    ResponseEntity<String> unreadable(HttpMessageNotReadableException problem) {
        return Problems.response(BankJson.unreadable(problem));
    }

    private static ResponseEntity<Object> response(Answer answer) {
        ResponseEntity.BodyBuilder response =
                ResponseEntity.status(answer.status()).header(Business.BYTES, String.valueOf(answer.remoteBytes()));
        if (answer.contentType() != null) {
            response.contentType(MediaType.parseMediaType(answer.contentType()));
        }
        return response.body(answer.body());
    }
}
