package org.rowankv.jdbc.mapping;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Bytes that a person reads as text: UTF-8 without control characters, but for tabs and ends of lines. Stateless. */
final class PlainText {
    private PlainText() {}

    /** The text; null if the bytes are none. */
    static @Nullable String of(byte[] bytes, int offset, int length) {
        final String text;
        try {
            text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes, offset, length))
                    .toString();
        } catch (CharacterCodingException e) {
            return null;
        }
        return text.chars().anyMatch(c -> Character.isISOControl(c) && c != '\t' && c != '\n' && c != '\r')
                ? null
                : text;
    }
}
