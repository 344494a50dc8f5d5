package org.rowankv.rdma.disni;

import org.rowankv.rdma.verbs.Verbs;
import org.rowankv.rdma.verbs.VerbsException;

/** Opens DiSNI, or says what is missing and what to do. Runs without it. */
public final class DisniLibrary {
    private static final String A_CLASS_OF_IT = "com.ibm.disni.verbs.RdmaEventChannel";
    private static final String OTHERWISE = ", or start with --fabric tcp";

    private DisniLibrary() {}

    /**
     * The verbs of the devices of this machine.
     *
     * @throws VerbsException with the reason and the remedy, in one line
     */
    public static Verbs open() throws VerbsException {
        requireClasses();
        try {
            return DisniVerbs.open();
        } catch (UnsatisfiedLinkError | NoClassDefFoundError | ExceptionInInitializerError e) {
            throw new VerbsException(
                    "the native library of DiSNI, " + System.mapLibraryName("disni")
                            + ", cannot be loaded: build it from DiSNI's sources with libibverbs-dev and librdmacm-dev,"
                            + " and name its directory by LD_LIBRARY_PATH or -Djava.library.path" + OTHERWISE + " ("
                            + reason(e) + ")",
                    e);
        } catch (IllegalAccessError e) {
            throw new VerbsException(exportMissing(), e);
        }
    }

    private static void requireClasses() throws VerbsException {
        final Class<?> found;
        try {
            found = Class.forName(A_CLASS_OF_IT, false, DisniLibrary.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new VerbsException(
                    "--fabric rdma needs DiSNI, com.ibm.disni:disni:2.1, on the class path of the server (ROWAN_CLASSPATH of ./rowan): add it"
                            + OTHERWISE,
                    e);
        }
        if (!Object.class.getModule().isExported("sun.nio.ch", found.getModule())) {
            throw new VerbsException(exportMissing());
        }
    }

    private static String exportMissing() {
        return "DiSNI needs the option --add-exports java.base/sun.nio.ch=ALL-UNNAMED of the JVM: add it" + OTHERWISE;
    }

    private static String reason(Throwable e) {
        final Throwable cause = e.getCause() == null ? e : e.getCause();
        final String message = String.valueOf(cause.getMessage());
        return message.length() > 200 ? message.substring(0, 200) : message;
    }
}
