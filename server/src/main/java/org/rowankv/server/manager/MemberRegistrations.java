package org.rowankv.server.manager;

/** The last registered incarnation of each server, as this one has read it. */
public interface MemberRegistrations {
    /** 0 if there is none. */
    long incarnation(int server);
}
