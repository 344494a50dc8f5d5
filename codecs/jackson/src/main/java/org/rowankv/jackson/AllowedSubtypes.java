package org.rowankv.jackson;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.cfg.MapperConfig;
import com.fasterxml.jackson.databind.jsontype.PolymorphicTypeValidator;

/** Checks of classes that an application's annotations have named in the JSON, before they are used. Stateless. */
final class AllowedSubtypes extends PolymorphicTypeValidator.Base {
    private static final long serialVersionUID = 1L;

    /** The {@link AllowedClassLoader} checks it before it is initialized. */
    @Override
    public Validity validateSubClassName(MapperConfig<?> config, JavaType baseType, String className) {
        return Validity.INDETERMINATE;
    }

    @Override
    public Validity validateSubType(MapperConfig<?> config, JavaType baseType, JavaType subType) {
        return AllowedBeans.isAllowed(config, subType.getRawClass()) ? Validity.ALLOWED : Validity.DENIED;
    }
}
