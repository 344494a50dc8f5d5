package org.rowankv.tck;

import com.google.inject.Guice;
import com.google.inject.Injector;
import javax.cache.annotation.BeanProvider;
import org.jsr107.ri.annotations.guice.module.CacheAnnotationsModule;

/**
 * Where the TCK's annotation tests get their beans from: Guice, with the interceptors that the JSR's reference
 * implementation publishes for it. They take their caches from the default manager of the default provider, which is what
 * is tested. Found by the service loader.
 */
public final class InterceptedBeans implements BeanProvider {
    private final Injector injector = Guice.createInjector(new CacheAnnotationsModule());

    @Override
    public <T> T getBeanByType(Class<T> type) {
        return injector.getInstance(type);
    }
}
