package org.rowankv.server.configstore;

/**
 * A version of a node, as a condition of a change of another node.
 *
 * @param version that was read; {@link ConfigurationStore#ABSENT} if there was no node
 */
public record NodeVersion(String path, long version) {
    public NodeVersion {
        NodePath.require(path);
    }
}
