package org.rowankv.server.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rowankv.server.embedded.Stores.bytes;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.rowankv.driver.RowanClient;
import org.rowankv.protocol.Request;
import org.rowankv.server.area.SegmentOwner;
import org.rowankv.server.area.SegmentState;
import org.rowankv.server.directory.AreaImage;
import org.rowankv.server.engine.Server;
import org.rowankv.server.log.Segments;

/** Damages landed entries of a backup, in a running server or in a closed file. */
final class LandedDamage {
    private LandedDamage() {}

    /** A key of a shard with that primary and that backup. */
    static String keyOf(EmbeddedCluster cluster, RowanClient client, int cache, int primary, int backup) {
        for (int i = 0; i < 10_000; i++) {
            final String key = "key" + i;
            final int shard = shardOf(client, cache, key);
            if (cluster.configuration().shard(shard).primary() == primary
                    && cluster.configuration().shard(shard).isReplica(backup)) {
                return key;
            }
        }
        throw new AssertionError("no shard is like that: " + cluster.configuration());
    }

    static int shardOf(RowanClient client, int cache, String key) {
        final Request get = new Request().get(cache, bytes(key), 0, bytes(key).length);
        client.execute(get);
        return get.shard();
    }

    /** Flips a bit of the only copy of these bytes in a server's area. */
    static void flip(Server server, byte[] content) {
        final Segments segments = server.segments();
        final List<Long> found = new ArrayList<>();
        for (int segment = 0; segment < segments.count(); segment++) {
            final long from = segments.area().addressOf(segment);
            final ByteBuffer buffer = segments.region().buffer(from);
            final int at = segments.region().offset(from);
            for (int i = 0; i + content.length <= segments.length(); i++) {
                if (buffer.get(at + i) == content[0] && isThere(buffer, at + i, content)) {
                    found.add(from + i);
                }
            }
        }
        assertThat(found).hasSize(1);
        final ByteBuffer buffer = segments.region().buffer(found.get(0));
        final int at = segments.region().offset(found.get(0));
        buffer.put(at, (byte) (buffer.get(at) ^ 4));
    }

    private static boolean isThere(ByteBuffer buffer, int at, byte[] content) {
        for (int i = 0; i < content.length; i++) {
            if (buffer.get(at + i) != content[i]) {
                return false;
            }
        }
        return true;
    }

    /** Flips a bit of the only copy of these bytes in the backup log of a closed area. */
    static void flipInFile(Path dir, int server, byte[] content) throws IOException {
        final Path area = dir.resolve("area-" + server + ".rowan");
        final byte[] all = Files.readAllBytes(area);
        final AreaImage image = AreaImage.open(dir, server);
        final List<Integer> found = new ArrayList<>();
        for (int segment = 0; segment < image.segmentCount(); segment++) {
            if (image.state(segment) != SegmentState.FREE && image.owner(segment) == SegmentOwner.BACKUP) {
                final int from = (int) image.addressOf(segment);
                for (int at = from; at + content.length <= from + image.segmentLength(); at++) {
                    if (Arrays.equals(all, at, at + content.length, content, 0, content.length)) {
                        found.add(at);
                    }
                }
            }
        }
        assertThat(found).hasSize(1);
        try (FileChannel channel = FileChannel.open(area, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {(byte) (all[found.get(0)] ^ 4)}), found.get(0));
        }
    }
}
