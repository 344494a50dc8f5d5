package org.rowankv.daemon.admin;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.UnaryOperator;

/**
 * Answers of the admin port to HTTP, as supervisors and collectors of metrics request it: {@code GET /ready} is the
 * line {@code ready}. The code is 200; 503 if the answer begins with "not "; 404 for an unknown path, 405 for another
 * method. The connection ends with the answer.
 */
final class HttpAnswer {
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    private static final String TEXT = "text/plain; charset=utf-8";

    private HttpAnswer() {}

    /** Whether that first line of a request is one of HTTP. */
    static boolean isRequest(String line) {
        return line.matches("[A-Z]+ \\S+ HTTP/1\\.[0-9]");
    }

    /** Whether a request has arrived up to the empty line behind its head. */
    static boolean isComplete(String head) {
        return head.contains("\r\n\r\n") || head.contains("\n\n");
    }

    static byte[] to(String line, UnaryOperator<String> answers) {
        final String[] words = line.split(" ", -1);
        if (!words[0].equals("GET") && !words[0].equals("HEAD")) {
            return bytes("405 Method Not Allowed", TEXT, "use GET\n", true);
        }
        final String path = words[1].replaceFirst("\\?.*", "");
        final String text = answers.apply(path.substring(1).toLowerCase(Locale.ROOT));
        final String code = text.startsWith("unknown ")
                ? "404 Not Found"
                : text.startsWith("not ") ? "503 Service Unavailable" : "200 OK";
        return bytes(code, text.startsWith("# ") ? OPEN_METRICS : TEXT, text, words[0].equals("GET"));
    }

    private static byte[] bytes(String code, String type, String text, boolean withBody) {
        final String head = "HTTP/1.1 " + code + "\r\nContent-Type: " + type + "\r\nContent-Length: "
                + text.getBytes(StandardCharsets.UTF_8).length + "\r\nConnection: close\r\n\r\n";
        return (withBody ? head + text : head).getBytes(StandardCharsets.UTF_8);
    }
}
