/** A program of its own module. */
module com.example.words {
    requires cache.api;
    requires org.rowankv.jcache;
}
