package org.rowankv.daemon.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.admin.AdminServer.AdminServerException;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig.ConfigException;
import org.rowankv.daemon.ParentWatch;

/**
 * A single ZooKeeper server for clusters on one machine: listens on the loopback address only. Arguments: directory,
 * port. Runs until it is ended, or its parent ends, if {@link ParentWatch} is enabled.
 */
public final class ZooKeeperProcess {
    private ZooKeeperProcess() {}

    public static void main(String[] arguments) throws IOException, ConfigException, AdminServerException {
        ParentWatch.beginIfAsked();
        System.setProperty("zookeeper.admin.enableServer", "false");
        final Path directory = Path.of(arguments[0]);
        Files.createDirectories(directory);
        final Properties properties = new Properties();
        properties.setProperty("dataDir", directory.toString());
        properties.setProperty("clientPort", arguments[1]);
        properties.setProperty("clientPortAddress", "127.0.0.1");
        properties.setProperty("tickTime", "2000");
        properties.setProperty("maxClientCnxns", "0");
        final QuorumPeerConfig parsed = new QuorumPeerConfig();
        parsed.parseProperties(properties);
        final ServerConfig config = new ServerConfig();
        config.readFrom(parsed);
        new ZooKeeperServerMain().runFromConfig(config);
    }
}
