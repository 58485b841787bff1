package jdkmatrix.serverprobes;

/** Text from the outside, as it stands in our one-line messages. */
public final class Text {
    private static final int SHOWN = 120;

    private Text() {}

    /** In quotes, cut to {@value #SHOWN} characters, and without what would begin a new line; null: "nothing". */
    public static String quoted(String text) {
        if (text == null) {
            return "nothing";
        }
        String line = text.replaceAll("\\p{Cntrl}", "?");
        return '"' + (line.length() > SHOWN ? line.substring(0, SHOWN) + "…" : line) + '"';
    }
}
