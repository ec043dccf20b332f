package io.regatta.collective.store;

class MemoryStoreTest extends StoreContract {
  private Store shared;

  @Override
  Store client() {
    shared = shared == null ? new MemoryStore(vertx) : shared;
    return shared;
  }
}
