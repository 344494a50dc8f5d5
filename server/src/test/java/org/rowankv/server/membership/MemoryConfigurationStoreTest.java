package org.rowankv.server.membership;

class MemoryConfigurationStoreTest extends ConfigurationStoreContract {
    private final MemoryConfigurationStore store = new MemoryConfigurationStore();

    @Override
    protected ConfigurationStore store() {
        return store;
    }
}
