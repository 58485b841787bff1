package jdkmatrix.serverprobes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
    @Test
    void writesEveryKindOfValueInOrder() {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("text", "a \"b\" \\ \n é");
        members.put("whole", 42L);
        members.put("part", 1.5);
        members.put("flag", true);
        members.put("none", null);
        assertEquals(
                "{\"text\":\"a \\\"b\\\" \\\\ \\u000a é\",\"whole\":42,\"part\":1.5,\"flag\":true,\"none\":null}",
                Json.object(members));
    }

    @Test
    void refusesWhatIsNotFlat() {
        assertThrows(IllegalArgumentException.class, () -> Json.object(Map.of("list", List.of())));
    }
}
