package org.rowankv.sim.command;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.rowankv.sim.SeedReport;
import org.rowankv.sim.Seeds;

/** Seeds of all forms, opened when they are first needed. Used by one thread. */
final class FormedSeeds {
    private final LongFunction<Form> forms;
    private final Map<Form, Seeds> opened = new EnumMap<>(Form.class);

    /** @param forms of each seed */
    FormedSeeds(LongFunction<Form> forms) {
        this.forms = forms;
    }

    Form form(long seed) {
        return forms.apply(seed);
    }

    Seeds of(long seed) {
        return opened.computeIfAbsent(form(seed), Form::open);
    }

    SeedReport run(long seed, @Nullable Consumer<String> reader) {
        return of(seed).run(seed, reader);
    }

    /** The traits of a seed, for its form. */
    List<String> traits(long seed) {
        final String form = form(seed).name();
        final List<String> traits = new ArrayList<>();
        for (String trait : of(seed).traits(seed)) {
            traits.add(form + " " + trait);
        }
        return traits;
    }
}
