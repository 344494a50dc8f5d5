package org.rowankv.kryo;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.util.DefaultClassResolver;
import java.util.function.Predicate;

/**
 * Registers a class that the bytes name, or that a value has, if the rules allow it. One instance of Kryo serves one cache, whose
 * rules do not change. Used by one thread at a time.
 */
final class AllowedClassResolver extends DefaultClassResolver {
    private Predicate<Class<?>> allowed = type -> false;
    private boolean hasMetNewClass;

    /** For the next call. */
    void ask(Predicate<Class<?>> rules) {
        allowed = rules;
        hasMetNewClass = false;
    }

    /** Whether the call has met a class that this instance had not met before. */
    boolean hasMetNewClass() {
        return hasMetNewClass;
    }

    @Override
    @SuppressWarnings("rawtypes") // as in Kryo
    public Registration registerImplicit(Class type) {
        if (!allowed.test(type)) {
            throw new KryoException("the class " + type.getName() + " is not allowed");
        }
        hasMetNewClass = true;
        return super.registerImplicit(type);
    }
}
