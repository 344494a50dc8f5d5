package org.rowankv.tck;

import com.google.inject.Guice;
import com.google.inject.Injector;
import javax.cache.annotation.BeanProvider;
import org.jsr107.ri.annotations.guice.module.CacheAnnotationsModule;

/**
 * Bean provider of the TCK's annotation tests: Guice, with the interceptors that the JSR's reference implementation
 * publishes for it. They use the default manager of the default provider, which is under test. Loaded by the service
 * loader.
 */
public final class InterceptedBeans implements BeanProvider {
    private final Injector injector = Guice.createInjector(new CacheAnnotationsModule());

    @Override
    public <T> T getBeanByType(Class<T> type) {
        return injector.getInstance(type);
    }
}
