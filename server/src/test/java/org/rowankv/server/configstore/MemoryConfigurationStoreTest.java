package org.rowankv.server.configstore;

class MemoryConfigurationStoreTest extends ConfigurationStoreContract {
    private final MemoryConfigurationStore store = new MemoryConfigurationStore();

    @Override
    protected ConfigurationStore store() {
        return store;
    }
}
