package org.rowankv.daemon.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rowankv.rdma.secret.ClusterSecret;

/** Secrets in files: generated once, for the owner alone. */
class SecretFilesTest {
    @TempDir
    Path dir;

    @Test
    void shouldDrawASecretOnceForTheOwnerAlone() throws IOException {
        final Path file = dir.resolve("cluster.secret");
        SecretFiles.createIfAbsent(file);
        final String drawn = Files.readString(file);
        assertThat(drawn.strip()).matches("[0-9a-f]{32}");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        SecretFiles.createIfAbsent(file);
        assertThat(Files.readString(file)).isEqualTo(drawn);
        final Path other = dir.resolve("other.secret");
        SecretFiles.createIfAbsent(other);
        assertThat(Files.readString(other)).isNotEqualTo(drawn);
    }

    /** With replacement characters, different files would yield the same secret. */
    @Test
    void shouldRefuseAFileThatIsNoText() throws IOException {
        final byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) 0xfe);
        bytes[3] = 'x';
        final Path file = Files.write(dir.resolve("secret"), bytes);
        assertThatThrownBy(() -> SecretFiles.clusterSecret(file, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(file.toString())
                .hasMessageContaining("UTF-8");
    }

    @Test
    void shouldTakeTheSameSecretFromAFileAndFromTheEnvironment() throws IOException {
        final Path file = Files.writeString(dir.resolve("secret"), "  0123456789abcdef\n");
        final ClusterSecret fromFile = SecretFiles.clusterSecret(file, null);
        final ClusterSecret fromEnvironment = SecretFiles.clusterSecret(null, "0123456789abcdef");
        for (ClusterSecret.Purpose purpose : ClusterSecret.Purpose.values()) {
            assertThat(fromFile.begin(purpose).doFinal(new byte[] {1}))
                    .isEqualTo(fromEnvironment.begin(purpose).doFinal(new byte[] {1}));
        }
        assertThat(fromFile.begin(ClusterSecret.Purpose.HANDSHAKE).doFinal())
                .isNotEqualTo(fromFile.begin(ClusterSecret.Purpose.REGISTRATION).doFinal());
        assertThat(SecretFiles.clusterSecret(null, null)).isNull();
    }
}
