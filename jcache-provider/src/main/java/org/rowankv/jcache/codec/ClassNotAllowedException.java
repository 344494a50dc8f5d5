package org.rowankv.jcache.codec;

import javax.cache.CacheException;

/** An object contains a class that the rules refuse; it is neither written nor read. */
public final class ClassNotAllowedException extends CacheException {
    private static final long serialVersionUID = 1L;

    private final String className;

    public ClassNotAllowedException(String className) {
        super("the class " + className
                + " is not among those that may be serialized into or out of the cache: add it to " + ClassRules.SETTING
                + " (name, package.* or package.**; several separated by ';'), or name it with setTypes");
        this.className = className;
    }

    public String className() {
        return className;
    }
}
