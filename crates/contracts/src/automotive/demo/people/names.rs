//! Made-up names of customers, in groups of given and family names that go together.

type Names = [&'static str; 12];

#[rustfmt::skip]
pub(super) const FAMILIES: [(Names, Names); 10] = [
    (
        ["Emily", "Jacob", "Hannah", "Tyler", "Grace", "Logan", "Abigail", "Caleb", "Megan", "Ethan", "Natalie", "Owen"],
        ["Harper", "Whitaker", "Sullivan", "Brennan", "Caldwell", "Mercer", "Hollis", "Prescott", "Winslow", "Thatcher", "Ellison", "Granger"],
    ),
    (
        ["José", "María", "Sofía", "Andrés", "Lucía", "Ramón", "Inés", "Héctor", "Camila", "Ángel", "Ximena", "Julián"],
        ["García Márquez", "Hernández", "Núñez", "Ortiz Vega", "Peña", "Ibáñez", "Castañeda", "Ruiz-Soto", "Domínguez", "Quiñones", "Salazar", "Arévalo León"],
    ),
    (
        ["Siobhan", "Declan", "Niamh", "Patrick", "Aoife", "Cormac", "Maeve", "Liam", "Bridget", "Ronan", "Fiona", "Sean"],
        ["O'Connor", "O'Malley", "D'Arcy", "Fitzgerald", "O'Sullivan", "McBride", "Gallagher", "O'Neill", "Kavanagh", "McAllister", "Doyle", "O'Rourke"],
    ),
    (
        ["Jürgen", "Anneliese", "Søren", "Åsa", "Björn", "Käthe", "Lars", "Ingrid", "Øyvind", "Greta", "Matthias", "Élise"],
        ["Müller", "Schröder", "Jørgensen", "Lindström", "Östlund", "van der Berg", "Nygård", "Köhler", "Åkesson", "Weiss-Brandt", "Dubois", "Lefèvre"],
    ),
    (
        ["Wei", "Mei-Ling", "Jun", "Xiu", "Hao", "Yan", "Jian", "Li Na", "Ming", "Fang", "Bo", "Ting"],
        ["Chen", "Zhang", "Wong", "Liu", "Huang", "Lin", "Tsai", "Zhou", "Xu", "Kwok", "Ng", "Tang"],
    ),
    (
        ["Aarav", "Priya", "Rohan", "Ananya", "Vikram", "Deepa", "Arjun", "Kavya", "Sanjay", "Meera", "Imran", "Zoya"],
        ["Patel", "Krishnamurthy", "Singh", "Chatterjee", "Iyer", "Reddy", "Kapoor", "Deshpande", "Nair", "Bhattacharya", "Qureshi", "Malhotra"],
    ),
    (
        ["Amina", "Kwame", "Ngozi", "Tunde", "Zainab", "Chidi", "Fatou", "Sekou", "Adaeze", "Kofi", "Wanjiru", "Themba"],
        ["Okafor", "Mensah", "Diop", "Adeyemi", "Ndlovu", "Kamau", "Traoré", "Boateng", "Eze", "Balogun", "N'Diaye", "Mwangi"],
    ),
    (
        ["Łukasz", "Zofia", "Milan", "Jovana", "Piotr", "Katarzyna", "Ivan", "Oksana", "Dmitri", "Anastasia", "Tomáš", "Petra"],
        ["Wójcik", "Kowalski", "Novák", "Petrović", "Żukowska", "Dvořák", "Shevchenko", "Horvat", "Ivanov", "Zielińska", "Kučera", "Marković"],
    ),
    (
        ["Yusuf", "Layla", "Omar", "Şebnem", "Karim", "Noor", "Emre", "Yasmin", "Tariq", "Leila", "Çağla", "Samir"],
        ["Haddad", "Yıldız", "Mansour", "Öztürk", "Khalil", "Rahimi", "Demir", "Nasser", "Al-Farouq", "Şahin", "Aziz", "Hosseini"],
    ),
    (
        ["DeShawn", "Imani", "Malik", "Keisha", "Andre", "Simone", "Terrence", "Jasmine", "Marcus", "Nia", "Xavier", "Renée"],
        ["Washington", "Baptiste", "St. Clair", "Freeman", "Broussard", "Coleman-Hayes", "Toussaint", "Gaines", "Rollins", "Beauchamp", "Whitlock", "Jean-Louis"],
    ),
];
