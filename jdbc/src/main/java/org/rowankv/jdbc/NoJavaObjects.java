package org.rowankv.jdbc;

import java.sql.SQLFeatureNotSupportedException;
import org.h2.api.JavaObjectSerializer;

/** Refuses Java serialization: bytes in a statement must not become objects. Made by H2, by its name. */
public final class NoJavaObjects implements JavaObjectSerializer {
    /** For H2. */
    public NoJavaObjects() {}

    @Override
    public byte[] serialize(Object object) throws SQLFeatureNotSupportedException {
        throw refused();
    }

    @Override
    public Object deserialize(byte[] bytes) throws SQLFeatureNotSupportedException {
        throw refused();
    }

    private static SQLFeatureNotSupportedException refused() {
        return new SQLFeatureNotSupportedException("JAVA_OBJECT is not supported", "0A000");
    }
}
