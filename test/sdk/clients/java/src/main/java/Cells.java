import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The cells of one client: each way of asking, on each model. Prints a JSON line for each of them. */
final class Cells {
    static final String BASE_URL = System.getenv("OPENAI_BASE_URL");
    static final String ROOT = BASE_URL.replaceFirst("/v1$", "");
    static final String KEY = System.getenv("OPENAI_API_KEY");
    static final String QUESTION = "What is 3 plus 4?";
    /** A text that the model goes on with. */
    static final String TEXT = "user\n" + QUESTION + "\nassistant\n";
    /** A model that no server has. */
    static final String MISSING = "missing";
    private static final int REASON_CHARS_MAX = 300;

    /** Returns when what came from a model is right, and throws when it is not. */
    interface Cell {
        void run(String model) throws Exception;
    }

    private final Map<String, Cell> cells = new LinkedHashMap<>();

    Cells add(String way, Cell cell) {
        cells.put(way, cell);
        return this;
    }

    static void check(boolean isRight, Object what) {
        if (!isRight) throw new IllegalStateException(String.valueOf(what));
    }

    static void checkText(String text) {
        check(text != null && !text.isBlank(), "no text came: " + text);
    }

    /** Text in several pieces, and the tokens of the usage. */
    static void checkStream(List<String> pieces, long tokens) {
        List<String> texts = new ArrayList<>(pieces);
        texts.removeIf(String::isEmpty);
        check(texts.size() > 1 && tokens > 0, "the text came in " + texts.size() + " piece with " + tokens + " tokens");
        checkText(String.join("", texts));
    }

    static void checkError(int status, String message) {
        check(status == 404 && message.contains(MISSING), "the error has status " + status + " and message " + message);
    }

    void run() {
        for (String model : System.getenv("MODELS").split(" ")) {
            cells.forEach((way, cell) -> {
                String outcome = outcomeOf(cell, model).replace("\\", "\\\\").replace("\"", "\\\"");
                String line = "cell:{\"model\": \"%s\", \"way\": \"%s\", \"outcome\": \"%s\"}";
                System.out.println(String.format(line, model, way, outcome));
            });
        }
        // Threads of a client that are still at work must not keep the program.
        System.exit(0);
    }

    private static String outcomeOf(Cell cell, String model) {
        try {
            cell.run(model);
            return "ok";
        } catch (Throwable error) {
            error.printStackTrace();
            String text = String.valueOf(error).replaceAll("\\p{Cntrl}|\\s+", " ");
            return "fails: " + text.substring(0, Math.min(text.length(), REASON_CHARS_MAX));
        }
    }
}
