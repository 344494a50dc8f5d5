package org.rowankv.jackson;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.jsontype.PolymorphicTypeValidator;
import org.jspecify.annotations.Nullable;

/** Checks of classes that an application's annotations have named in the JSON, before they are used. Stateless. */
final class AllowedSubtypes extends PolymorphicTypeValidator.Base {
    private static final long serialVersionUID = 1L;

    /** Before Jackson initializes the class; it takes the class from the same loaders. */
    @Override
    public Validity validateSubClassName(MapperConfig<?> config, JavaType baseType, String className) {
        for (ClassLoader loader : new @Nullable ClassLoader[] {
            Thread.currentThread().getContextClassLoader(), ObjectMapper.class.getClassLoader()
        }) {
            try {
                return validity(config, Class.forName(className, false, loader));
            } catch (ClassNotFoundException | LinkageError e) {
                continue; // perhaps the other one has it
            }
        }
        return Validity.DENIED;
    }

    @Override
    public Validity validateSubType(MapperConfig<?> config, JavaType baseType, JavaType subType) {
        return validity(config, subType.getRawClass());
    }

    private static Validity validity(MapperConfig<?> config, Class<?> type) {
        return AllowedBeans.isAllowed(config, type) ? Validity.ALLOWED : Validity.DENIED;
    }
}
