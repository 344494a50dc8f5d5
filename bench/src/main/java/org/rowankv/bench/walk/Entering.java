package org.rowankv.bench.walk;

import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/** The agent: from now on each method of ours that is loaded logs when it is entered and left. */
final class Entering {
    private static final String OURS = "org.rowankv.";
    private static final String BENCH = "org.rowankv.bench.";

    private Entering() {}

    /** Before the first class is loaded whose methods are to be logged. */
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

    /** Copied to the end of each method, also where it throws. */
    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit() {
        Walk.left();
    }
}
