package jdkmatrix.springmvc;

import java.nio.charset.StandardCharsets;
import jdkmatrix.serverprobes.Problem;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Turns a {@link Problem} into the answer of a controller. */
@RestControllerAdvice
class Problems {
    private static final MediaType TEXT = new MediaType(MediaType.TEXT_PLAIN, StandardCharsets.UTF_8);

    @ExceptionHandler
    static ResponseEntity<String> response(Problem problem) {
        return ResponseEntity.status(problem.status()).contentType(TEXT).body(problem.getMessage() + "\n");
    }
}
