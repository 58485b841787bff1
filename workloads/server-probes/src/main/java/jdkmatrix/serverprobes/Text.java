package jdkmatrix.serverprobes;

/** Text from outside, as it appears in our one-line messages. */
public final class Text {
    private static final int SHOWN = 120;

    private Text() {}

    /** Returns the text in quotes, cut to {@value #SHOWN} characters, without control characters; null: "nothing". */
    public static String quoted(String text) {
        if (text == null) {
            return "nothing";
        }
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return '"' + (line.length() > SHOWN ? line.substring(0, SHOWN) + "…" : line) + '"';
    }
}
