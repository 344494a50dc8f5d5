package org.rowankv.spring.test;

import org.springframework.boot.context.TypeExcludeFilter;
import org.springframework.core.type.classreading.MetadataReader;
import org.springframework.core.type.classreading.MetadataReaderFactory;

/** Excludes every component that a scan finds. All are equal, so that contexts of tests are reused. */
final class ComponentExcludeFilter extends TypeExcludeFilter {
    @Override
    public boolean match(MetadataReader metadataReader, MetadataReaderFactory metadataReaderFactory) {
        return true;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ComponentExcludeFilter;
    }

    @Override
    public int hashCode() {
        return ComponentExcludeFilter.class.hashCode();
    }
}
