package org.rowankv.sim.plant;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Check that planted bugs can be planted: each fits its source, compiles, and changes a class. All bugs are compiled in
 * a few tasks; each task has at most one bug per file.
 */
final class BugCheck {
    private final SourceTree tree;
    private final List<String> mistakes = new ArrayList<>();
    private final Map<String, String> rightSources = new TreeMap<>();
    private final List<Map<String, PlantedBug>> tasks = new ArrayList<>();
    private final List<Map<String, String>> wrongSources = new ArrayList<>();

    private BugCheck(SourceTree tree) {
        this.tree = tree;
    }

    /** Returns the invalid ones, a line or more each; empty if all are valid. */
    static List<String> mistakes(List<PlantedBug> bugs, SourceTree tree) {
        final BugCheck check = new BugCheck(tree);
        bugs.forEach(check::plant);
        try (BugCompiler compiler = new BugCompiler()) {
            check.compile(compiler);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return check.mistakes;
    }

    private void plant(PlantedBug bug) {
        final String wrong;
        try {
            rightSources.computeIfAbsent(bug.type(), type -> tree.read(bug.path()));
            wrong = tree.sourceWith(bug);
        } catch (IllegalStateException | UncheckedIOException e) {
            mistakes.add(String.valueOf(e.getMessage()));
            return;
        }
        int task = 0;
        while (task < tasks.size() && tasks.get(task).containsKey(bug.type())) {
            task++;
        }
        if (task == tasks.size()) {
            tasks.add(new LinkedHashMap<>());
            wrongSources.add(new LinkedHashMap<>());
        }
        tasks.get(task).put(bug.type(), bug);
        wrongSources.get(task).put(bug.type(), wrong);
    }

    private void compile(BugCompiler compiler) {
        final BugCompiler.Compiled right = compiler.compile(rightSources);
        right.errors().forEach((type, error) -> mistakes.add(type + " as it is does not compile: " + error));
        for (int i = 0; i < tasks.size(); i++) {
            final BugCompiler.Compiled wrong = compiler.compile(wrongSources.get(i));
            tasks.get(i).forEach((type, bug) -> {
                final String error = wrong.errors().get(type);
                if (error != null) {
                    mistakes.add("the planted bug '" + bug.name() + "' does not compile: " + error);
                } else if (wrong.errors().isEmpty() && areSame(classes(right, type), classes(wrong, type))) {
                    mistakes.add("the planted bug '" + bug.name() + "' changes no class");
                }
            });
        }
    }

    private static Map<String, byte[]> classes(BugCompiler.Compiled compiled, String type) {
        return compiled.classes().getOrDefault(type, Map.of());
    }

    private static boolean areSame(Map<String, byte[]> right, Map<String, byte[]> wrong) {
        return right.keySet().equals(wrong.keySet())
                && right.entrySet().stream()
                        .allMatch(entry -> Arrays.equals(entry.getValue(), wrong.get(entry.getKey())));
    }
}
