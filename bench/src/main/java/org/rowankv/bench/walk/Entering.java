package org.rowankv.bench.walk;

import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.matcher.ElementMatchers;

/** Java agent that instruments each project method loaded from now on to record its entry. */
final class Entering {
    private static final String OURS = "org.rowankv.";
    private static final String BENCH = "org.rowankv.bench.";

    private Entering() {}

    /** Must run before the first class to instrument is loaded. */
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
}
