package org.rowankv.jcache.configuration;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import javax.cache.CacheException;

/**
 * What a URI says about a store. Immutable.
 *
 * @param addresses servers of a cluster; empty for the other kinds
 * @param name of a named store; empty for the other kinds
 * @param parameters settings in the URI
 */
record StoreUri(URI uri, Kind kind, List<String> addresses, String name, Map<String, String> parameters) {
    /** Kinds of URIs. */
    enum Kind {
        /** {@code rowan:embedded}: servers in this JVM. */
        EMBEDDED,
        /** {@code rowan://host:port}: servers elsewhere. */
        CLUSTER,
        /** {@code rowan:NAME}: a store whose settings are given by that name. */
        NAMED,
        /** A configuration file. */
        FILE
    }

    private static final String SCHEME = "rowan";
    private static final String EMBEDDED = "embedded";
    private static final String AUTHORITY = "//";
    private static final Pattern ADDRESS = Pattern.compile("(?:[^:/?#\\[\\]@,;]+|\\[[0-9a-fA-F:.%]+\\]):[0-9]{1,5}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+");
    /** Resources of this machine, as class loaders and frameworks name them. */
    private static final Set<String> FILE_SCHEMES =
            Set.of("file", "classpath", "jar", "jrt", "vfs", "resource", "bundleresource");

    /** Throws for a URI that names no store. */
    static StoreUri of(URI uri) {
        if (uri.getScheme() != null && FILE_SCHEMES.contains(uri.getScheme())) {
            return new StoreUri(uri, Kind.FILE, List.of(), "", Map.of());
        }
        if (!SCHEME.equals(uri.getScheme())) {
            throw unknown(uri, "its scheme is neither \"rowan\" nor one of a file");
        }
        final String specific = uri.getRawSchemeSpecificPart();
        final int question = specific.indexOf('?');
        final String where = question < 0 ? specific : specific.substring(0, question);
        final Map<String, String> parameters = parameters(uri, question < 0 ? "" : specific.substring(question + 1));
        if (where.startsWith(AUTHORITY)) {
            final List<String> addresses = addresses(uri, where.substring(AUTHORITY.length()));
            requireOfManager(uri, parameters);
            return new StoreUri(uri, Kind.CLUSTER, addresses, "", parameters);
        }
        if (where.equals(EMBEDDED)) {
            return new StoreUri(uri, Kind.EMBEDDED, List.of(), "", parameters);
        }
        if (!isName(where)) {
            throw unknown(uri, "it names \"" + where + "\", which is no kind of store");
        }
        return new StoreUri(uri, Kind.NAMED, List.of(), where, parameters);
    }

    /** Whether a store may have that name. */
    static boolean isName(String text) {
        return NAME.matcher(text).matches() && !text.equals(EMBEDDED);
    }

    /**
     * The URI in a text.
     *
     * @param origin of the text, for the message
     */
    static URI parse(String text, String origin) {
        try {
            return new URI(withoutBrackets(text.trim()));
        } catch (URISyntaxException e) {
            throw new CacheException(origin + " = \"" + text + "\" is no URI", e);
        }
    }

    private static List<String> addresses(URI uri, String where) {
        final int slash = where.indexOf('/');
        if (slash >= 0 && slash != where.length() - 1) {
            throw unknown(uri, "nothing may stand between the last address and the settings but a \"/\"");
        }
        final List<String> addresses = new ArrayList<>();
        for (String address :
                withBrackets(slash < 0 ? where : where.substring(0, slash)).split("[,;]", -1)) {
            if (!ADDRESS.matcher(address).matches()) {
                throw unknown(uri, "\"" + address + "\" is no host:port");
            }
            addresses.add(address);
        }
        return List.copyOf(addresses);
    }

    /** {@link URI} accepts one bracketed address; several must be written with %5B and %5D. */
    private static String withBrackets(String authority) {
        return authority
                .replace("%5B", "[")
                .replace("%5b", "[")
                .replace("%5D", "]")
                .replace("%5d", "]");
    }

    /** Encodes the brackets, so that {@link URI} accepts any addresses. */
    private static String withoutBrackets(String uri) {
        final int from = uri.indexOf("//") + 2;
        final int slash = from < 2 ? -1 : uri.indexOf('/', from);
        final int question = from < 2 ? -1 : uri.indexOf('?', from);
        final int end = slash >= 0 ? slash : question >= 0 ? question : uri.length();
        return from < 2
                ? uri
                : uri.substring(0, from)
                        + uri.substring(from, end).replace("[", "%5B").replace("]", "%5D")
                        + uri.substring(end);
    }

    /** The settings of a remote store belong to its servers. */
    static void requireOfManager(URI uri, Map<String, String> parameters) {
        for (String parameter : parameters.keySet()) {
            final Setting setting = Setting.ofParameter(parameter);
            if (setting != null && setting.scope() == Setting.Scope.STORE) {
                throw unknown(uri, "\"" + parameter + "\" is a setting of the servers, which run elsewhere");
            }
        }
    }

    private static Map<String, String> parameters(URI uri, String query) {
        final Map<String, String> parameters = new TreeMap<>();
        for (String part : query.split("&", -1)) {
            if (!part.isEmpty()) {
                addParameter(parameters, part, uri);
            }
        }
        return parameters;
    }

    private static void addParameter(Map<String, String> parameters, String part, URI uri) {
        final int equals = part.indexOf('=');
        if (equals < 1) {
            throw unknown(uri, "\"" + part + "\" is not of the form name=value");
        }
        final String name = decode(part.substring(0, equals));
        if (parameters.put(name, decode(part.substring(equals + 1))) != null) {
            throw unknown(uri, "it sets \"" + name + "\" twice");
        }
    }

    /** Keeps a plus sign, which is common in paths. */
    private static String decode(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    static CacheException unknown(URI uri, String why) {
        return new CacheException("the URI " + uri + " names no store: " + why
                + "; write rowan:embedded, rowan:embedded?servers=1&dir=/path, rowan://host:port;host:port/,"
                + " rowan:NAME, or the URI of a file such as classpath:rowan.properties");
    }
}
