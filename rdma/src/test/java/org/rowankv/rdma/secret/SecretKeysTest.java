package org.rowankv.rdma.secret;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HashSet;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Assume;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.rowankv.rdma.secret.ClusterSecret.Purpose;

/** Which texts are a secret, and that each purpose of each secret has a key of its own, the same on every server. */
final class SecretKeysTest {
    private static final byte[] MESSAGE = "a message".getBytes(StandardCharsets.UTF_8);

    @Provide
    Arbitrary<String> visible() {
        return Arbitraries.strings()
                .withCharRange('!', '~')
                .withChars('é', 'ß', 'Ж', '中')
                .ofMinLength(1)
                .ofMaxLength(40);
    }

    @Provide
    Arbitrary<String> blanks() {
        return Arbitraries.strings().withChars(' ', '\t', '\n', '\r', '\u2003').ofMaxLength(20);
    }

    private static byte[] mac(ClusterSecret secret, Purpose purpose) {
        return secret.begin(purpose).doFinal(MESSAGE);
    }

    private static byte[] hmac(byte[] key, byte[] text) {
        try {
            final Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            return mac.doFinal(text);
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** HKDF of RFC 5869, of one block. */
    private static byte[] keyOf(String text, Purpose purpose) {
        final byte[] salt = "rowan-kv cluster secret, version 1".getBytes(StandardCharsets.UTF_8);
        return hmac(
                hmac(salt, text.getBytes(StandardCharsets.UTF_8)),
                ("rowan-kv " + purpose.name() + '\1').getBytes(StandardCharsets.UTF_8));
    }

    @Property(tries = 300)
    void shouldTakeWhatHasEnoughBytesWithoutTheWhiteSpaceAroundIt(
            @ForAll("visible") String text, @ForAll("blanks") String before, @ForAll("blanks") String after) {
        final String whole = before + text + after;
        if (text.getBytes(StandardCharsets.UTF_8).length < ClusterSecret.LEAST_LENGTH) {
            assertThatThrownBy(() -> ClusterSecret.of("the file", whole))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the file");
        } else {
            for (final Purpose purpose : Purpose.values()) {
                assertThat(mac(ClusterSecret.of("the file", whole), purpose))
                        .isEqualTo(hmac(keyOf(text, purpose), MESSAGE));
            }
        }
    }

    @Property(tries = 100)
    void shouldHaveAnotherKeyForEachPurposeOfEachSecret(
            @ForAll("visible") String one, @ForAll("visible") String other) {
        Assume.that(!one.equals(other));
        final Set<String> macs = new HashSet<>();
        for (final String text : new String[] {"0123456789abcdef" + one, "0123456789abcdef" + other}) {
            for (final Purpose purpose : Purpose.values()) {
                macs.add(new String(mac(ClusterSecret.of("the file", text), purpose), StandardCharsets.ISO_8859_1));
            }
        }
        assertThat(macs).hasSize(2 * Purpose.values().length);
    }

    @Example
    void shouldRefuseWhatIsNoLine() {
        for (final String text : new String[] {
            "", " \n\t", "0123456789abcdef\n0123456789abcdef", "0123456789abcdef\0", "0123456789\tabcdef"
        }) {
            assertThatThrownBy(() -> ClusterSecret.of("the file", text))
                    .as("%s", text)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the file");
        }
    }
}
