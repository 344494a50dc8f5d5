package org.rowankv.driver;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rowankv.driver.api.RowanException;
import org.rowankv.protocol.Request;

/** Outcome of one key of a bulk operation: exactly one component is not null. */
public record BulkResult(
        @Nullable WriteResult result, @Nullable RowanException failure) {
    static BulkResult of(Request request, Function<Request, WriteResult> write) {
        try {
            return new BulkResult(write.apply(request), null);
        } catch (RowanException e) {
            return new BulkResult(null, e);
        }
    }
}
