package org.rowankv.bench.walk;

import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/** Instrumentation agent: methods of this project's classes, loaded from now on, report entry and exit. */
final class Entering {
    private static final String OURS = "org.rowankv.";
    private static final String BENCH = "org.rowankv.bench.";

    private Entering() {}

    /** Installs the agent. Call before the first class to be instrumented is loaded. */
    static void install() {
        new AgentBuilder.Default()
                .type(ElementMatchers.<net.bytebuddy.description.type.TypeDescription>nameStartsWith(OURS)
                        .and(ElementMatchers.not(ElementMatchers.nameStartsWith(BENCH))))
                .transform((builder, type, loader, module, domain) -> builder.visit(Advice.to(Entering.class)
                        .on(ElementMatchers.isMethod().and(ElementMatchers.not(ElementMatchers.isAbstract())))))
                .installOn(ByteBuddyAgent.install());
    }

    /** Inlined at the start of each method. */
    @Advice.OnMethodEnter
    static void enter(@Advice.Origin("#t") String type) {
        Walk.entered(type);
    }

    /** Copied to each exit of a method, including exceptions. */
    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit() {
        Walk.left();
    }
}
